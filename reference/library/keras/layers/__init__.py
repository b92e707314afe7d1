"""`tf.keras.layers`: functions of tensors that have variables. Source: tf_keras 2.21."""

from __future__ import annotations

from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.input_spec import InputSpec
from sessrun.reference.library.keras.layers.activation_layers import (
    ELU,
    LeakyReLU,
    PReLU,
    ReLU,
    Softmax,
    ThresholdedReLU,
)
from sessrun.reference.library.keras.layers.attention import AdditiveAttention, Attention
from sessrun.reference.library.keras.layers.batch_normalization import BatchNormalization
from sessrun.reference.library.keras.layers.bidirectional import Bidirectional
from sessrun.reference.library.keras.layers.convolutional import Conv1D, Conv2D, Conv3D
from sessrun.reference.library.keras.layers.convolutional_recurrent import (
    ConvLSTM1D,
    ConvLSTM2D,
    ConvLSTM3D,
)
from sessrun.reference.library.keras.layers.core import (
    Activation,
    Dense,
    Dropout,
    Embedding,
    Identity,
    Masking,
)
from sessrun.reference.library.keras.layers.dot_products import Dot, dot
from sessrun.reference.library.keras.layers.gru import GRU, GRUCell
from sessrun.reference.library.keras.layers.lambda_layer import Lambda
from sessrun.reference.library.keras.layers.locally_connected import (
    LocallyConnected1D,
    LocallyConnected2D,
)
from sessrun.reference.library.keras.layers.lstm import LSTM, LSTMCell
from sessrun.reference.library.keras.layers.merging import (
    Add,
    Average,
    Concatenate,
    Maximum,
    Minimum,
    Multiply,
    Subtract,
    add,
    average,
    concatenate,
    maximum,
    minimum,
    multiply,
    subtract,
)
from sessrun.reference.library.keras.layers.noise import (
    ActivityRegularization,
    AlphaDropout,
    GaussianDropout,
    GaussianNoise,
    SpatialDropout1D,
    SpatialDropout2D,
    SpatialDropout3D,
)
from sessrun.reference.library.keras.layers.normalization import LayerNormalization
from sessrun.reference.library.keras.layers.padding import (
    Cropping1D,
    Cropping2D,
    Cropping3D,
    ZeroPadding1D,
    ZeroPadding2D,
    ZeroPadding3D,
)
from sessrun.reference.library.keras.layers.pooling import (
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalAveragePooling3D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    GlobalMaxPooling3D,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
)
from sessrun.reference.library.keras.layers.recurrent import RNN
from sessrun.reference.library.keras.layers.recurrent_cells import AbstractRNNCell, SimpleRNNCell
from sessrun.reference.library.keras.layers.reshaping import Flatten, Permute, RepeatVector, Reshape
from sessrun.reference.library.keras.layers.separable_convolutions import (
    DepthwiseConv1D,
    DepthwiseConv2D,
    SeparableConv1D,
    SeparableConv2D,
)
from sessrun.reference.library.keras.layers.serialization import deserialize, serialize
from sessrun.reference.library.keras.layers.simple_rnn import SimpleRNN
from sessrun.reference.library.keras.layers.stacked_cells import StackedRNNCells
from sessrun.reference.library.keras.layers.transposed_convolutions import (
    Conv1DTranspose,
    Conv2DTranspose,
    Conv3DTranspose,
)
from sessrun.reference.library.keras.layers.upsampling import (
    UpSampling1D,
    UpSampling2D,
    UpSampling3D,
)
from sessrun.reference.library.keras.layers.wrappers import TimeDistributed, Wrapper

AvgPool1D, AvgPool2D, AvgPool3D = AveragePooling1D, AveragePooling2D, AveragePooling3D
MaxPool1D, MaxPool2D, MaxPool3D = MaxPooling1D, MaxPooling2D, MaxPooling3D
GlobalAvgPool1D, GlobalMaxPool1D = GlobalAveragePooling1D, GlobalMaxPooling1D
GlobalAvgPool2D, GlobalMaxPool2D = GlobalAveragePooling2D, GlobalMaxPooling2D
GlobalAvgPool3D, GlobalMaxPool3D = GlobalAveragePooling3D, GlobalMaxPooling3D
Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
Convolution1DTranspose = Conv1DTranspose
Convolution2DTranspose, Convolution3DTranspose = Conv2DTranspose, Conv3DTranspose
SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D

__all__ = [
    "ELU",
    "GRU",
    "LSTM",
    "RNN",
    "AbstractRNNCell",
    "Activation",
    "ActivityRegularization",
    "Add",
    "AdditiveAttention",
    "AlphaDropout",
    "Attention",
    "Average",
    "AveragePooling1D",
    "AveragePooling2D",
    "AveragePooling3D",
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "BatchNormalization",
    "Bidirectional",
    "Concatenate",
    "Conv1D",
    "Conv1DTranspose",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "ConvLSTM1D",
    "ConvLSTM2D",
    "ConvLSTM3D",
    "Convolution1D",
    "Convolution1DTranspose",
    "Convolution2D",
    "Convolution2DTranspose",
    "Convolution3D",
    "Convolution3DTranspose",
    "Cropping1D",
    "Cropping2D",
    "Cropping3D",
    "Dense",
    "DepthwiseConv1D",
    "DepthwiseConv2D",
    "Dot",
    "Dropout",
    "Embedding",
    "Flatten",
    "GRUCell",
    "GaussianDropout",
    "GaussianNoise",
    "GlobalAveragePooling1D",
    "GlobalAveragePooling2D",
    "GlobalAveragePooling3D",
    "GlobalAvgPool1D",
    "GlobalAvgPool2D",
    "GlobalAvgPool3D",
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "GlobalMaxPool3D",
    "GlobalMaxPooling1D",
    "GlobalMaxPooling2D",
    "GlobalMaxPooling3D",
    "Identity",
    "InputSpec",
    "LSTMCell",
    "Lambda",
    "Layer",
    "LayerNormalization",
    "LeakyReLU",
    "LocallyConnected1D",
    "LocallyConnected2D",
    "Masking",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
    "MaxPooling1D",
    "MaxPooling2D",
    "MaxPooling3D",
    "Maximum",
    "Minimum",
    "Multiply",
    "PReLU",
    "Permute",
    "ReLU",
    "RepeatVector",
    "Reshape",
    "SeparableConv1D",
    "SeparableConv2D",
    "SeparableConvolution1D",
    "SeparableConvolution2D",
    "SimpleRNN",
    "SimpleRNNCell",
    "Softmax",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
    "StackedRNNCells",
    "Subtract",
    "ThresholdedReLU",
    "TimeDistributed",
    "UpSampling1D",
    "UpSampling2D",
    "UpSampling3D",
    "Wrapper",
    "ZeroPadding1D",
    "ZeroPadding2D",
    "ZeroPadding3D",
    "add",
    "average",
    "concatenate",
    "deserialize",
    "dot",
    "maximum",
    "minimum",
    "multiply",
    "serialize",
    "subtract",
]
