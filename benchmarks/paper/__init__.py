"""Tables 5, 6, 7 and Figures 4 and 7 of Wakabayashi et al. (2024), done again.

`published` holds what is printed, `printed_rules` what the printed numbers were
made by, `clean` what treeaudit makes of the same models; `protocol` runs both,
`agreement` and `reasons` compare, `report` and `figures` write.
"""
