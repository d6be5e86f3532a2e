"""Facts that change: versions, and the rules by which they are added, ended, replaced and withdrawn."""
