"""The error that is shown to a user as a single line."""


class UserError(Exception):
    """An error that the user can fix: the message names the file, line or id, what is wrong, and what to do."""
