def tv(vars, context):
    return {"n": "py" + vars["q"], "extra": ["l", 1]}
