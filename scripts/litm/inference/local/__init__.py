"""Models in this process: what the engines that run them share."""
