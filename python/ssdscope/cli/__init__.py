"""The command line, and the only place that prints.

`app` puts the commands together and turns every error into a message and an exit code;
`options` holds what commands share; `output`, `progress` and `session` are how they speak.
`help`, `choices` and `completion` show what may be typed, `usage` what was wrong with it.
Each command is a file of its own, and imports what is heavy inside its function: a command
line that is only parsed starts in a fraction of a second.
"""
