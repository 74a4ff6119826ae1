import json
def call_api(prompt, options, context):
    config = {k: v for k, v in options['config'].items() if k != 'basePath'}
    return {'output': json.dumps(config, sort_keys=True)}
