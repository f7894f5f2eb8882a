"""The engines, a module each: see `litm.engines.interface`."""
