import json
def chat(context):
    return [{'role': 'user', 'content': f"py {context['vars']['x']} {context['provider'].get('label')} {sorted(context)}"}]
