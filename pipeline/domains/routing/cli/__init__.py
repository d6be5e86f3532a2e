"""``hoprank route``: the graph of projects."""

from pipeline.cli.groups import Commands
from pipeline.domains.routing.cli import learn, projects

app = Commands(no_args_is_help=True)
app.command()(projects.sync)
app.command()(projects.index)
app.command()(projects.link)
app.command()(projects.unlink)
app.command()(learn.propose)
app.command()(learn.used)
app.command()(learn.forget_usage)
app.command()(learn.log)
app.command()(projects.evaluate)
