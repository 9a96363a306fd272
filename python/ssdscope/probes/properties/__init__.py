"""Families of properties, one file each: what is asked, by which plans, and what is made of it.

A family says what it cannot tell. It sees series (`plan.Ask`) and values that size its requests;
what other mechanisms hide stands in `mechanisms`, what evidence comes to in `verdict`.
"""
