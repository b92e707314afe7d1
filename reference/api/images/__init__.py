"""`tf.image`: what programs do with pictures, over the operations on them."""
