"""The curator as a service: HTTP for programs, pages for people, over the same verbs as the library.

Start at `app` (how a request comes in), `state` (what a worker holds), `jobs` (how a question is answered once), then
`api` (the table of all ways in). Nothing here decides about privacy: the curator does, and the ledger before it.
"""
