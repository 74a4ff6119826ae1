import json
def call_api(prompt, options, context):
    return {'output': prompt + ' || ' + json.dumps(context['prompt'].get('config'), sort_keys=True) + json.dumps(options['config'], sort_keys=True, default=str).replace(options['config'].get('basePath','~'), 'BASE')}
