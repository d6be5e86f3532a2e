"""The map of the program: each module reads as one flow, from its input to its result.

It may import all but the API, the servers and the command line.
"""
