"""Modules of the commands; `cli.app.COMMANDS` names the module of each command."""
