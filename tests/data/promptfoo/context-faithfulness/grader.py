def call_api(prompt, options, context):
    if 'statements' in context['vars']:
        return {'output': context['vars'].get('verdicts')}
    return {'output': 'first statement\nsecond statement'}
