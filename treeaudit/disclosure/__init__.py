"""The measures of statistical disclosure control, as pure functions of group sizes and counts.

`risks` who can be found, `population` whether they are alone outside the data
as well, `dominance` whether a total gives away one contribution, `crosstab`
how alike a column is inside the groups, `features` which columns single people
out.
"""
