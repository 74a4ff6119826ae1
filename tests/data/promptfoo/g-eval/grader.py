import json
def call_api(prompt, options, context):
    if '**Evaluation Steps**' in prompt:
        return {'output': json.dumps({'score': 8 if 'is short' in prompt else 4, 'reason': 'because'}), 'tokenUsage': {'total': 3, 'prompt': 2, 'completion': 1}}
    return {'output': '{"steps": ["look", "count"]}', 'tokenUsage': {'total': 5, 'prompt': 4, 'completion': 1}}
