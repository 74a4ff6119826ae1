def build(context):
    v = context['vars']
    return f"Q: {v['query']} E: {v.get('extra')}"
