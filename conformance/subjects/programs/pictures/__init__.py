"""Programs of the area pictures, of images and `tf.image`; each module is a topic."""
