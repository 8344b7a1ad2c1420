"""Studies over many runs, a folder for each question.

- What can be set and moved: `space`.
- What comes of many runs, and of other laws on the same claims: `studies`. When is it the clock's doing: `cadence`.
- Does a loop settle: `stability`. What matters: `sensitivity`; what is best: `tuning`. How fast does truth age: `decay`.
- What breaks a check: `falsify`. What do checks notice, and what changed: `suite`. Does an alarm do its work: `tripwire`.
- How does one run look from inside: `scope`, and by hand `shell`.
"""
