import math
TOOLS = [{'function': {'name': 'get_weather', 'arguments': '{"city": "Oslo"}'}, 'type': 'function'}]
def call_api(prompt, options, context):
    return {'probs': {'output': 'x', 'logProbs': [-0.5, -0.25, -0.75]},
            'guard': {'output': 'x', 'guardrails': {'flagged': True, 'flaggedInput': True}},
            'plain': {'output': 'x', 'finishReason': 'stop', 'cost': 0.25},
            'tools': {'output': TOOLS},
            'badtools': {'output': [{'function': {'name': 1}}]},
            'skills': {'output': 'x', 'metadata': {'skillCalls': [{'name': 'write'}, {'name': 'write', 'path': 'p'}, {'name': 'read', 'is_error': True}]}},
            'anthropic': {'output': 'text\n{"type": "tool_use", "name": "a", "input": {}}\n\n{"type": "tool_use", "name": "c", "input": {}}'}}[prompt]
