import json
def call_api(prompt, options, context):
    reply = context['vars'].get('reply')
    return {'output': reply, 'tokenUsage': {'total': 30, 'prompt': 20, 'completion': 10}}
