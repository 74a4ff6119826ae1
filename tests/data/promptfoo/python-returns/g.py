import asyncio
def get_assert(output, context):
    return output == 'abc'
def other(output, context):
    return {'pass_': True, 'score': 0.4, 'reason': 'other', 'named_scores': {'n1': 0.1}}
class K:
    @staticmethod
    def m(output, context):
        return 0.75
async def aio(output, context):
    await asyncio.sleep(0)
    return True
def raises(output, context):
    raise KeyError('zz')
def keys(output, context):
    return {'pass': True, 'score': 1, 'reason': ','.join(sorted(context)) + '|' + ','.join(sorted(context['test'])) + '|' + str(context['config'])}
def prints(output, context):
    print('noise')
    return True
