"""Cells and edges of a netlist: conversion of text to a memory and back."""
