"""Headline numbers again, from the raw rows, by a route that uses none of our code.

`models` draws models and says who ends where in each tree, by the library's own routing;
`leaves`, `measures` and `joint` compute what a report has to say of them with numpy and loops;
`test_route` holds reports against that. Nothing but `test_route` imports treeaudit.
"""
