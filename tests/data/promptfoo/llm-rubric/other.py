import json
def call_api(prompt, options, context):
    return {'output': json.dumps({'pass': prompt == 'Rate hi by x hi', 'score': len(prompt), 'reason': prompt})}
