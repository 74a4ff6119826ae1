import json


def call_api(prompt, options, context):
    if "both" in prompt:
        return {"output": "kept", "error": "and an error"}
    config = {k: v for k, v in options["config"].items() if k != "basePath"}
    return {"output": json.dumps([prompt, options["id"], config, sorted(context), context["prompt"], context["testIdx"], context["repeatIndex"],
                                  sorted(k for k in context["test"])])}
