"""A vault about beekeeping, messages that its notes answer, and messages that none of them does."""

from __future__ import annotations

NOTES = {
    "index.md": """---
description: Where to start in these notes on keeping bees
type: moc
---
The year begins with [[Spring inspection]] and ends with [[Wintering a colony]]. Health is in
[[Varroa mite]], [[American foulbrood]] and [[Nosema]]; the harvest in [[Honey extraction]] and [[Moisture of honey]].
""",
    "colony/Queen.md": """---
description: The one fertile female of a colony, mother of all its bees
type: concept
aliases: [queen bee, mother of the hive]
tags: [biology]
---
A queen lays up to two thousand eggs a day. Since she mates only once in her life, her stock of sperm runs out after
three or four years, and the workers raise a new one: see [[Supersedure]]. Her scent holds the colony together, which is
why a colony without her turns restless within hours: [[Queenless colony]].
""",
    "colony/Queenless colony.md": """---
description: How to tell that a colony has lost its queen, and what can still save it
type: technique
---
Signs are a rising roar, many drone cells and no eggs on any comb. Give the colony a comb with fresh eggs from
another hive: if it draws emergency cells on it, there was no [[Queen]]. Workers that have been without brood for long
begin to lay, and then only uniting helps: [[Uniting colonies]].
""",
    "colony/Supersedure.md": """---
description: The quiet replacement of an old queen by her own colony
type: concept
---
One to three cells in the middle of a comb mean supersedure, not swarming. Leave them alone: mother and daughter may
lay side by side for weeks. Compare [[Swarm cells]], which hang from the lower edge.
""",
    "colony/Swarm cells.md": """---
description: Queen cells on the lower edge of combs that announce a swarm
type: reference
---
Ten or more capped cells mean that the colony leaves on the next warm day. Because cutting them only delays it, make an
[[Artificial swarm]] instead.
""",
    "colony/Drone.md": """---
description: The male bee, and why colonies throw drones out in August
type: concept
tags: [biology]
---
Drones hatch from unfertilised eggs, do no work and mate in the air with a [[Queen]] of another colony. Their brood
takes 24 days, which is why mites prefer it: cutting drone comb is part of the treatment of the [[Varroa mite]].
""",
    "colony/Waggle dance.md": """---
description: How foragers tell each other the direction and distance of food
type: concept
tags: [biology]
---
The angle of the waggling run to the vertical is the angle between the sun and the flowers; its length in seconds is the
distance in kilometres. Karl von Frisch decoded it.
""",
    "work/Spring inspection.md": """---
description: What to check at the first opening of the hives in the year
type: procedure
---
Wait for fifteen degrees and willow in bloom. Look for eggs, at least three combs of brood, and five kilograms of
stores; otherwise see [[Emergency feeding]]. Clean the floor and write everything down on the [[Hive record]].
""",
    "work/Artificial swarm.md": """---
description: Splitting a colony by hand before it swarms by itself
type: technique
---
Move the queen with one comb to a new box on the old stand. The flying bees come home to her, believe that they have
swarmed, and the rest raises a new queen from the [[Swarm cells]].
""",
    "work/Uniting colonies.md": """---
description: Joining a weak or queenless colony with a strong one by newspaper
type: technique
---
Put a sheet of newspaper between both boxes. Until it is eaten through the scents have mixed, so that nobody fights. It
is the last resort for a [[Queenless colony]].
""",
    "work/Smoker.md": """---
description: Fuel and use of smoke so that bees stay calm
type: reference
tags: [tools]
---
Smoke masks the alarm scent and makes bees fill their honey stomachs. Dried bracket fungus and sacking burn cool and
long. Two puffs at the entrance are enough.
""",
    "work/Sting allergy.md": """---
description: First aid for bee stings, and when to call an ambulance
type: reference
---
Scrape the sting off sideways and cool the place. Hives on the skin, a swollen tongue or dizziness are an allergic
shock: lie down, adrenaline pen, ambulance.
""",
    "work/Hive record.md": """---
description: What to note at every inspection so that the next decision is easy
type: procedure
---
Date, eggs seen, combs of brood, temper, stores, and what comes next. A stone on the roof is faster than a notebook, but
only paper tells next year why a colony was split: [[Artificial swarm]].
""",
    "health/Varroa mite.md": """---
description: The mite that kills most colonies, and how to count it
type: concept
tags: [health]
---
Varroa destructor breeds in capped cells and carries the deformed wing virus. Count the natural fall on a board: more
than ten a day in July means that [[Formic acid treatment]] can't wait. In winter without brood [[Oxalic acid]] reaches
all of them.
""",
    "health/Formic acid treatment.md": """---
description: Evaporating formic acid in late summer against mites, also under the cappings
type: procedure
tags: [health]
---
Take off the honey first. It needs twenty degrees for several days and is the only acid that also works in capped brood.
Queens are lost now and then, so check for a [[Queenless colony]] two weeks later.
""",
    "health/Oxalic acid.md": """---
description: The winter treatment of mites in colonies without brood
type: procedure
tags: [health]
---
Trickle it once, in December, three weeks after the first hard frost. A second time harms the bees more than the
[[Varroa mite]].
""",
    "health/American foulbrood.md": """---
description: A notifiable disease of the brood that ropes out on a matchstick
type: reference
tags: [health]
---
Sunken, greasy cappings and a brown mass that draws threads. Report it to the veterinary office: colonies are
destroyed or made into swarms without combs, and the area is closed for trade and movement.
""",
    "health/Nosema.md": """---
description: Dysentery of bees in spring by a gut parasite
type: concept
tags: [health]
---
Brown streaks on the front of the hive in March. Warm, sunny sites and young queens prevent it; sugar feed in late
autumn makes it worse. Strong colonies recover by the time of [[Spring inspection]].
""",
    "harvest/Honey extraction.md": """---
description: From the capped comb to the bucket: uncapping, spinning, sieving
type: procedure
tags: [harvest]
---
Take combs that are at least two thirds capped, after the test in [[Moisture of honey]]. Uncap with a fork, spin slowly
first, sieve twice and let it stand for two days before [[Creaming honey]].
""",
    "harvest/Moisture of honey.md": """---
description: Why honey with more than 18 percent water ferments, and how to measure it
type: reference
tags: [harvest]
---
A refractometer shows the water in a drop. Above 18 percent yeasts wake up. Without one, jerk the comb: if nectar
splashes, it isn't ripe.
""",
    "harvest/Creaming honey.md": """---
description: Stirring honey so that it sets fine and spreads like butter
type: technique
tags: [harvest]
---
Add a tenth of finely set honey and stir for ten minutes a day at fourteen degrees, until it looks like mother-of-pearl.
Rape honey sets within days, acacia honey never.
""",
    "harvest/Wax melting.md": """---
description: Getting clean wax from old combs with the sun or with steam
type: technique
tags: [harvest]
---
Old combs carry spores, so a third of them goes every year. The sun melts cappings, steam the black combs. Never use an
open flame. Candles need filtered wax.
""",
    "winter/Emergency feeding.md": """---
description: Fondant or frames of stores when a colony starves in late winter
type: technique
---
Lift the hive at the back: a light one starves. Lay fondant right above the cluster, never liquid syrup in the cold.
Starved bees have their heads in the cells.
""",
    "winter/Wintering a colony.md": """---
description: Stores, mouse guards and peace: what a colony needs from October to March
type: procedure
---
Fifteen to eighteen kilograms of stores by the end of September, a narrow entrance against mice, no knocking. The
cluster keeps its middle at twenty degrees by shivering. Treat mites once: [[Oxalic acid]].
""",
    "drafts/Mead.md": """---
description: Fermenting honey into mead with yeast
published: false
---
Three parts water, one part honey, yeast, and half a year of patience. It needs [[Honey extraction]] first.
""",
}

MESSAGES = {
    "How many eggs does a queen lay each day?": ("colony/Queen.md",),
    "The hive is roaring and I find no eggs anywhere": (
        "colony/Queenless colony.md",
        "work/Uniting colonies.md",
        "colony/Queen.md",
    ),
    "There are two queen cells in the middle of the comb, do I have to act?": (
        "colony/Supersedure.md",
        "colony/Swarm cells.md",
        "colony/Queen.md",
    ),
    "A dozen cells hang from the bottom of the comb": (
        "colony/Swarm cells.md",
        "work/Artificial swarm.md",
        "colony/Supersedure.md",
    ),
    "What are drones good for?": ("colony/Drone.md",),
    "How do bees tell each other where the flowers are?": ("colony/Waggle dance.md",),
    "When do I open the hives for the first time in spring?": ("work/Spring inspection.md",),
    "Split my colony before it swarms": (
        "work/Artificial swarm.md",
        "colony/Swarm cells.md",
    ),
    "Merge a weak colony with a strong one": ("work/Uniting colonies.md",),
    "What do I burn in the smoker?": ("work/Smoker.md",),
    "I was stung and my tongue is swelling": ("work/Sting allergy.md",),
    "What should I write down at each inspection?": (
        "work/Hive record.md",
        "work/Spring inspection.md",
    ),
    "How do I count mites?": ("health/Varroa mite.md",),
    "Which acid reaches the mites under the cappings?": (
        "health/Formic acid treatment.md",
        "health/Oxalic acid.md",
        "health/Varroa mite.md",
    ),
    "Treating mites in December": (
        "health/Oxalic acid.md",
        "health/Varroa mite.md",
        "winter/Wintering a colony.md",
    ),
    "The brood smells and draws threads on a match": ("health/American foulbrood.md",),
    "Brown streaks on the front of the hive": ("health/Nosema.md",),
    "How do I spin the honey out of the combs?": (
        "harvest/Honey extraction.md",
        "harvest/Moisture of honey.md",
    ),
    "My honey started to ferment": ("harvest/Moisture of honey.md",),
    "Make honey creamy and spreadable": ("harvest/Creaming honey.md",),
    "What to do with old black combs and wax": ("harvest/Wax melting.md",),
    "The colony is starving in February": (
        "winter/Emergency feeding.md",
        "winter/Wintering a colony.md",
    ),
    "How many kilograms of stores do bees need for the winter?": ("winter/Wintering a colony.md",),
    "Why do bees throw the males out in August?": ("colony/Drone.md",),
    "Is it dangerous if a beekeeper is allergic?": ("work/Sting allergy.md",),
    "Keeping mice out of the hive": ("winter/Wintering a colony.md",),
    "At which temperature does formic acid evaporate well?": ("health/Formic acid treatment.md",),
    "How do I measure the water in honey?": ("harvest/Moisture of honey.md",),
    "The queen is old, will the workers replace her?": (
        "colony/Supersedure.md",
        "colony/Queen.md",
    ),
    "Which brood disease do I have to report to the authorities?": ("health/American foulbrood.md",),
}
"""Messages, each with the note that answers it, and the others that a reader accepts beside it."""

OFF_TOPIC = (
    "What oven temperature do I need for sourdough bread?",
    "How do I replace the brake pads on a bicycle?",
    "Who won the 1998 football world cup final?",
    "Recommend a beach hotel in Portugal for August",
    "My cat keeps scratching the sofa, what can I do?",
    "Convert 15 miles to kilometres",
    "What is the boiling point of ethanol?",
    "Write a birthday card for my grandmother",
    "How much does a flight from Oslo to Rome cost?",
    "Which vaccine do I need before travelling to Kenya?",
    "Explain how a jet engine works",
    "How do I descale an espresso machine?",
    "What time does the pharmacy close on Sundays?",
    "Lyrics of a lullaby about the moon",
    "Set an alarm for seven in the morning",
    "How many goals did Pele score for Santos?",
    "The washing machine leaks during the spin cycle",
    "What is the capital of Mongolia?",
    "Is it going to rain in Lisbon tomorrow?",
    "How do I tie a bowline knot?",
    "Best running shoes for flat feet",
    "Who painted Girl with a Pearl Earring?",
    "Fix a null pointer exception in Java",
    "Which wine goes with grilled salmon?",
    "How to file a tax return for rental income in Spain",
    "Change the flat tyre of a motorbike",
    "When was the Eiffel Tower built?",
    "My knee hurts after skiing",
    "Plan a three day trip to Kyoto",
    "How do I get red wine stains out of a carpet?",
)
"""Messages of everyday life, none of which is a probe of the threshold."""
