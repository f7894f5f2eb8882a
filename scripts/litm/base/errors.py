"""The one kind of error that is shown to a user as a single line."""


class UserError(Exception):
    """Something the user can mend: the message says which file, line or id, what is wrong, and what to do."""
