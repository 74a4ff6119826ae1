def call_classification_api(prompt, options):
    return {'classification': {'good': 0.75, 'bad': 0.25}}
