"""From Python values to nodes: conversion, checks, generated wrappers, GraphDefs, functions.

It may import `graph` and the packages before it.
"""
