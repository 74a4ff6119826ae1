def get_transform(vars, context):
    return {'b': vars['a'].upper()}
