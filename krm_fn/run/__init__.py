"""The main job: collect, compile, target, admit, judge, report. Stands on everything but `cli`."""
