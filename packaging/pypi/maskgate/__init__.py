"""maskgate for people who install with pip: the Node program, with a Node from PyPI."""
