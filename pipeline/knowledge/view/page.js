// The page of one graph: it draws the data that it holds.
const picture = JSON.parse(document.getElementById("data").textContent);
const drawn = drawGraph(document.getElementById("graph"), picture);
document.getElementById("name").textContent = picture.name;
document.getElementById("counts").textContent = sizeOf(picture);
// Used by tests and in the browser's console.
window.hoprank = drawn;
