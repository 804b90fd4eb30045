"""Nadaraya-Watson kernel regression read as attention."""
