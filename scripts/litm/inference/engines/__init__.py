"""The engines, a module each: see `litm.inference.engine`."""
