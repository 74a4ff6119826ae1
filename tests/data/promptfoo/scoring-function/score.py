def get_score(named_scores, context):
    return {"pass": True, "score": 0.5, "reason": "py " + str(context.get("threshold")) + str(sorted(named_scores))}
def named(named_scores, context):
    return {"pass": False, "score": 0.1, "reason": "named"}
