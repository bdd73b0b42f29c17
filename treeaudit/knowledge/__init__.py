"""What an attacker who knows something already learns from the counts of a leaf.

Pure functions on arrays: `curves` and `implications` need the counts alone,
`cascade` the people who are known, `posterior` what is known of the population.
"""
