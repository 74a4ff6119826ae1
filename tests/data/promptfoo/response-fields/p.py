def call_api(prompt, options, context):
    if prompt == 'nocost': return {'output': 'n'}
    if prompt == 'cached': return {'output': 'n', 'cached': True}
    if prompt == 'lp': return {'output': 'n', 'logProbs': [-0.1, -0.2, -0.9]}
    if prompt == 'fin': return {'output': 'n', 'finishReason': 'stop'}
    if prompt == 'guard': return {'output': 'n', 'guardrails': {'flagged': True, 'flaggedOutput': True, 'reason': 'bad'}}
    if prompt == 'guardin': return {'output': 'n', 'guardrails': {'flagged': True, 'flaggedInput': True}}
    if prompt == 'guardok': return {'output': 'n', 'guardrails': {'flagged': False}}
    if prompt == 'tok': return {'output': 'n', 'tokenUsage': {'total': 10, 'prompt': 4, 'completion': 6}, 'metadata': {'k': 'v'}, 'cost': 0.5}
    return {'output': 'n', 'cost': 0.002}
