def call_api(prompt, options, context):
    return {'output': 'said ' + prompt}


def loud(prompt, options, context):
    return {'output': prompt.upper()}
