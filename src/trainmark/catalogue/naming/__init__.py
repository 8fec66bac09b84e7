"""One vocabulary for what submitters write in many ways, and what describes a system."""
