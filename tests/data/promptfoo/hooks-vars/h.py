def beforeAll(context, x=None):
    context['suite']['tests'].append({'vars': {'o': 'added'}, 'assert': [{'type': 'contains', 'value': 'added'}]})
    return context


def afterEach(context, x=None):
    context['result']['namedScores']['hooked'] = 0.5
    return context
