"""What engines that compute here share."""
