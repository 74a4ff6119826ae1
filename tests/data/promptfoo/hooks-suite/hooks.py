def every(hook, context):
    if hook == "beforeAll":
        suite = context["suite"]
        added = {"vars": {"b": "q"}, "assert": [{"type": "equals", "value": "py q!", "metric": "k"}]}
        suite["scenarios"].append({"config": [{"vars": {"a": "py"}}], "tests": [added]})
        suite["derivedMetrics"] = [{"name": "changed", "value": "k * 10"}]
        return context
