def call_api(prompt, options, context):
    return {'output': {'p': prompt}, 'cost': 0.5, 'metadata': {'seen': sorted(context['vars'])}, 'finishReason': 'stop'}
def other(prompt, options, context):
    return {'output': prompt + ' other'}
