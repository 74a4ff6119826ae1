def get_assert(output, context)
  'b'
end
