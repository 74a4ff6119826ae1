def with_config(context):
    return {'prompt': [{'role': 'user', 'content': context['vars']['v'] + str(context['config'])}], 'config': {'temperature': 0.5}}
