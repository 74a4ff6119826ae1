#!/bin/sh
echo "sh prompt"
