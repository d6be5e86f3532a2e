"""The tools: functions of a call, and the table that names, describes and annotates them."""
