def word(output, context):
    return 'ab'
